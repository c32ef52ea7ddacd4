import { Field } from "../parts/parts.tsx"
import { t } from "../texts.ts"

export const SnapshotName = ({ label }: { readonly label: string }) => (
  <Field label={label} hint={t.snapshots.nameHint}>
    {(ids) => (
      <input
        {...ids}
        name="name"
        required
        pattern="[A-Za-z][A-Za-z0-9_\-]{1,39}"
        title={t.snapshots.nameHint}
        maxLength={40}
        autocomplete="off"
        autocapitalize="none"
        spellcheck={false}
      />
    )}
  </Field>
)
