/** A value from outside as text; what is no text, number or boolean is shown as JSON, and nothing as the empty text. */
export const asText = (value: unknown): string =>
  typeof value === "string"
    ? value
    : typeof value === "number" || typeof value === "boolean"
      ? String(value)
      : (JSON.stringify(value) ?? "")
