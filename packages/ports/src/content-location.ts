import type * as Redacted from "effect/Redacted"

/** Credentials of a private repository. Sent to its own server only, and for submodules only if they are on the same server. */
export type GitAccess =
  | {
      readonly type: "token"
      /** The user name for the token; many servers accept any. */
      readonly username?: string
      readonly token: Redacted.Redacted
    }
  | {
      readonly type: "ssh-key"
      /** A private key without a passphrase, in OpenSSH or PEM form. */
      readonly privateKey: Redacted.Redacted
      /** `SHA256:<base64>` of the server's host key, as ssh-keygen prints it. Accepting any key is not possible. */
      readonly hostKey: string
    }

/** Where content comes from. Every text in it is user input: the fetcher validates it before anything runs. */
export type ContentLocation =
  | {
      readonly type: "git"
      readonly url: string
      /** Branch, tag or full commit hash; absent, empty or `HEAD` for the default branch. */
      readonly ref?: string
      readonly access?: GitAccess
    }
  | {
      readonly type: "archive"
      /** The uploaded file on the service's host; it is only read, never changed. */
      readonly file: string
      /** The name it was uploaded under; its extension gives the format: .tar, .tar.gz, .tgz, .zip. */
      readonly name: string
      /** The first bytes give the format instead of the name, which may be that of the content. */
      readonly byContent?: true
      /**
       * If all entries are in one folder, that folder is stripped from their paths, unless it is one of `keep` (a part of the layout
       * itself). Absent: paths stay as they are.
       */
      readonly unwrap?: { readonly keep: readonly string[] }
    }
  | {
      readonly type: "download"
      /** URL of an archive; its extension gives the format. Checked like a repository's URL, as is every redirect. */
      readonly url: string
      /** As for an archive. */
      readonly unwrap?: { readonly keep: readonly string[] }
    }
  | {
      readonly type: "folder"
      /** Absolute, on the service's host, inside a folder that the operator allowed. */
      readonly path: string
    }
