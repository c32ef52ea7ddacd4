import { render } from "preact"
import { App } from "./app.tsx"
import { applyTheme } from "./me.ts"
import { followLinks } from "./router.ts"

applyTheme()
followLinks()
const root = document.getElementById("page")
if (root !== null) render(<App />, root)
