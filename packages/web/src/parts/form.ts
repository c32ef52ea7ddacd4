/** The submitted values: the page sends the form, never the browser. */
export const submitted = (
  event: SubmitEvent,
): { readonly form: HTMLFormElement; readonly text: (name: string) => string; readonly has: (name: string) => boolean } => {
  event.preventDefault()
  const form = event.currentTarget as HTMLFormElement
  const data = new FormData(form)
  return {
    form,
    has: (name) => data.has(name),
    text: (name) => {
      const value = data.get(name)
      return typeof value === "string" ? value : ""
    },
  }
}
