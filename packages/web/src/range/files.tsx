import { type Parameters, read, save } from "../api/client.ts"
import { Icon } from "../parts/icon.tsx"
import { Outcome, useDoing } from "../parts/parts.tsx"

interface FileOffered {
  readonly title: string
  readonly name: string
  readonly get: () => Promise<Blob>
}

/** The text that an operation returns, as a file. */
export const textOf = async (path: string, parameters: Parameters): Promise<Blob> =>
  new Blob([(await read<{ readonly result: string }>(path, parameters)).result], { type: "text/plain" })

/** Files to download, with the reason below them when one cannot be. */
export const Files = ({ files }: { readonly files: readonly FileOffered[] }) => {
  const doing = useDoing()
  return (
    <>
      <ul class="plain">
        {files.map(({ title, name, get }) => (
          <li key={name}>
            <button
              type="button"
              class="as-link"
              disabled={doing.busy}
              onClick={() =>
                void doing.run(async () => {
                  await save(name, await get())
                  return undefined
                })
              }
            >
              <Icon name="down" />
              {title}
            </button>
          </li>
        ))}
      </ul>
      <Outcome doing={doing} />
    </>
  )
}
