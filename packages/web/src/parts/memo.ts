import { Component, type ComponentChild, type ComponentType, createElement } from "preact"

/** The component, rendered again only when one of its properties changes, not whenever its list is. */
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
