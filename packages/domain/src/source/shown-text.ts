/*
 * Text from sources, blueprints and the tools of a run is shown to other users, also in terminals: terminal control characters, and
 * bidirectional overrides that make text read as something else, are not allowed in it.
 */

// eslint-disable-next-line no-control-regex -- control characters are what is looked for
const steering = /[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F-\u009F\u202A-\u202E\u2066-\u2069]/u

/** The text with U+FFFD in place of characters that must not be shown. */
export const shownText = (text: string): string => text.toWellFormed().replace(new RegExp(steering, "gu"), "\ufffd")

/** Whether a text, of one or several lines, can be shown. */
export const isShownText = (text: string): boolean => !steering.test(text)

/** Whether a text is a single line that can be shown. */
export const isShownLine = (text: string): boolean => isShownText(text) && !/[\t\n\r]/u.test(text)
