/** The application's own icons, drawn with lines of one width. */
const paths = {
  ranges: "M8 2.5v3M3.5 12V9h9v3M2 12h3v2H2zM6.5 12h3v2h-3zM11 12h3v2h-3zM6 2h4v3.5H6z",
  runs: "M2 4h7M5 8h8M3 12h6",
  blueprints: "M3 2h10v12H3zM6 5.5h4M6 8h4M6 10.5h2.5",
  templates: "M2.5 5L8 2l5.5 3L8 8zM2.5 8L8 11l5.5-3M2.5 11L8 14l5.5-3",
  roles: "M3 3h10v3.5H3zM3 9.5h4.5V13H3zM10 9.5v3.5M8.3 11.2h3.5M5.2 6.5v3",
  catalog: "M2.5 2.5H7V7H2.5zM9 2.5h4.5V7H9zM2.5 9H7v4.5H2.5zM9 9h4.5v4.5H9z",
  sources:
    "M4 2v9M4 13.5a1.3 1.3 0 1 0 0-2.6 1.3 1.3 0 0 0 0 2.6zM12 5.6A1.3 1.3 0 1 0 12 3a1.3 1.3 0 0 0 0 2.6zM12 5.6c0 3-3 3.4-8 4.4",
  classes:
    "M5.5 7.5a2.2 2.2 0 1 0 0-4.4 2.2 2.2 0 0 0 0 4.4zM1.5 13c.3-2.6 1.8-3.7 4-3.7s3.7 1.1 4 3.7M11 7.5a1.9 1.9 0 1 0-.8-3.6M11.2 9.5c1.9 0 3.1 1.1 3.3 3.2",
  admin: "M8 1.8l5 1.9v3.8c0 3.2-2 5.6-5 6.7-3-1.1-5-3.5-5-6.7V3.7zM5.8 8l1.6 1.6 2.9-3",
  me: "M8 8a2.8 2.8 0 1 0 0-5.6A2.8 2.8 0 0 0 8 8zM2.8 14c.4-3 2.4-4.3 5.2-4.3s4.8 1.3 5.2 4.3",
  help: "M1.5 4h13v8h-13zM4 6.5h.1M6.7 6.5h.1M9.3 6.5h.1M12 6.5h.1M5 9.5h6",
  out: "M9.5 2.5H3v11h6.5M6.5 8H14M11.5 5.5L14 8l-2.5 2.5",
  search: "M7 11.5a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9zM10.5 10.5L14 14",
  screen: "M2 3h12v8H2zM6 14h4M8 11v3",
  menu: "M2.5 4.5h11M2.5 8h11M2.5 11.5h11",
  down: "M8 2.5v8M4.5 7.5L8 11l3.5-3.5M3 13.5h10",
  play: "M4.5 3l8 5-8 5z",
  stop: "M4 4h8v8H4z",
  router: "M2 9h12v4H2zM4.5 11h.1M7 11h.1M8 9V6M5.5 5.5a3.5 3.5 0 0 1 5 0M4 4a5.6 5.6 0 0 1 8 0",
  up: "M8 12.5v-9M4.5 7L8 3.5 11.5 7",
} as const

export type IconName = keyof typeof paths

export const Icon = ({ name }: { readonly name: IconName }) => (
  <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
    <path d={paths[name]} />
  </svg>
)
