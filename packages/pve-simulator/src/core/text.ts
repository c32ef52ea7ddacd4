/** Converts a value from outside to text: objects to JSON, null and undefined to the empty text. */
export const asText = (value: unknown): string =>
  typeof value === "string"
    ? value
    : typeof value === "number" || typeof value === "boolean"
      ? String(value)
      : (JSON.stringify(value) ?? "")
