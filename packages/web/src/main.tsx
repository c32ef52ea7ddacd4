import { render } from "preact"
import { startSession } from "./api/session.ts"
import { App } from "./app.tsx"
import { applyTheme, me } from "./me.ts"
import { followLinks } from "./router.ts"

applyTheme()
startSession(() => me.peek()?.userID)
followLinks()
const root = document.getElementById("page")
if (root !== null) render(<App />, root)
