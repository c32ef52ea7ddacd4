/*
 * What sources, blueprints and the tools of a run say is shown to others, in terminals too: characters that steer one, or that turn the
 * direction of what follows so that it reads as something else, are no text.
 */

// eslint-disable-next-line no-control-regex -- control characters are what is looked for
const steering = /[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F-\u009F\u202A-\u202E\u2066-\u2069]/u

/** The text with U+FFFD for what cannot be shown. */
export const shownText = (text: string): string => text.toWellFormed().replace(new RegExp(steering, "gu"), "\ufffd")

/** Text that can be shown, of one line or several. */
export const isShownText = (text: string): boolean => !steering.test(text)

/** Text that can be shown, of one line. */
export const isShownLine = (text: string): boolean => isShownText(text) && !/[\t\n\r]/u.test(text)
