import { Component, type ComponentChild, type ComponentType, createElement } from "preact"

/** The component, drawn again only when one of its properties is another one, not whenever the list that it is in is drawn. */
export const memo = <Properties extends object>(part: ComponentType<Properties>): ComponentType<Properties> =>
  class extends Component<Properties> {
    override shouldComponentUpdate(next: Readonly<Properties>): boolean {
      const names = Object.keys({ ...this.props, ...next }) as (keyof Properties)[]
      return names.some((name) => next[name] !== this.props[name])
    }
    override render(properties: Properties): ComponentChild {
      return createElement(part, properties) as ComponentChild
    }
  }
