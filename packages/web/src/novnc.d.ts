/** noVNC is published without types. What is used of it. */
declare module "@novnc/novnc" {
  interface Options {
    readonly credentials?: { readonly password: string }
    readonly shared?: boolean
  }
  // the module has nothing else
  export default class RFB extends EventTarget {
    constructor(target: Element, url: string, options?: Options)
    scaleViewport: boolean
    viewOnly: boolean
    background: string
    focusOnClick: boolean
    disconnect(): void
    focus(): void
    sendCtrlAltDel(): void
    sendKey(keysym: number, code: string | null, down?: boolean): void
  }
}
