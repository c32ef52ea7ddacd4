/** A page in a browser that sends requests. */
export interface Page {
  /** `https://lab.example:8080`. */
  readonly origin: string
  /** It is one of the service's own, or the operator named its origin. */
  readonly isKnown: boolean
}

/** Facts about a request that handlers seldom need. */
export interface RequestMeta {
  readonly requestId: string
  readonly remote: string
  /** What the client calls itself; undefined: nothing. */
  readonly agent?: string | undefined
  /** `Last-Event-ID` of a returning event stream client. */
  readonly lastEventId: string | undefined
  /** `If-Match`: the version that is to be changed. */
  readonly ifMatch?: string | undefined
  /** What the browser keeps of a sign-in that it has begun, where the request may end it. */
  readonly signIn?: string | undefined
  /** Undefined: no page, or one of the service's own that did not need to say so. */
  readonly page?: Page | undefined
}
