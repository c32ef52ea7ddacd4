import type { Notification } from "@rangewright/domain"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"

/**
 * Notifies people outside. Users choose the URLs, so only public addresses are connected to and networks that the operator allowed, and
 * none of the service's or the hypervisor's.
 */
export class Notifications extends Context.Service<
  Notifications,
  {
    /** Name of this host, for the recipients. */
    readonly host: string
    /**
     * Sends a notification, up to three times while its failure may pass. Returns why it was not delivered; undefined
     * when it was. The text contains no secret of the notification.
     */
    readonly send: (notification: Notification) => Effect.Effect<string | undefined>
  }
>()("rangewright/Notifications") {}
