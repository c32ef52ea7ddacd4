import type * as Redacted from "effect/Redacted"

/** How a private repository is opened. Shown to its own server only, and to servers of submodules when they are the same. */
export type GitAccess =
  | {
      readonly type: "token"
      /** The login that goes with it; many servers take any. */
      readonly username?: string
      readonly token: Redacted.Redacted
    }
  | {
      readonly type: "ssh-key"
      /** A private key without a passphrase, in OpenSSH or PEM form. */
      readonly privateKey: Redacted.Redacted
      /** `SHA256:<base64>` of the server's host key, as ssh-keygen prints it. There is no way to accept any key. */
      readonly hostKey: string
    }

/** Where content comes from. Every text in it is a user's: the fetcher checks it before anything runs. */
export type ContentLocation =
  | {
      readonly type: "git"
      readonly url: string
      /** Branch, tag or whole commit; absent, empty or `HEAD` for the default branch. */
      readonly ref?: string
      readonly access?: GitAccess
    }
  | {
      readonly type: "archive"
      /** The uploaded file on the service's host; it is read, never changed. */
      readonly file: string
      /** The name it was uploaded under, whose ending tells the format: .tar, .tar.gz, .tgz, .zip. */
      readonly name: string
      /**
       * When every entry lies below one folder, that folder is left out, unless it is one of `keep` (a part of the layout itself).
       * Absent: paths stay as they are.
       */
      readonly unwrap?: { readonly keep: readonly string[] }
    }
  | {
      readonly type: "download"
      /** Of an archive whose format its ending tells. Checked as that of a repository is, and so is every redirect. */
      readonly url: string
      /** As of an archive. */
      readonly unwrap?: { readonly keep: readonly string[] }
    }
  | {
      readonly type: "folder"
      /** Absolute, on the service's host, inside a folder that the operator allowed. */
      readonly path: string
    }
