import { Head } from "../parts/parts.tsx"
import { t } from "../texts.ts"

export const NotFound = () => (
  <>
    <Head title={t.notFound} lead={t.notFoundText} />
    <p>
      <a href="/ui/">{t.toRanges}</a>
    </p>
  </>
)
