/** What was filled in: the form is sent by the page, never by the browser. */
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
