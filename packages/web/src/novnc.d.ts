/** noVNC is published without types. These cover what is used. */
declare module "@novnc/novnc" {
  interface Options {
    readonly credentials?: { readonly password: string }
    readonly shared?: boolean
  }
  // the module has no other export
  export default class RFB extends EventTarget {
    constructor(target: Element, urlOrSocket: string | WebSocket, options?: Options)
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
