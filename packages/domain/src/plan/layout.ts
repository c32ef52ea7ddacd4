/**
 * Layout of the picture of a range's network: the router at the top, below it the networks side by side, as many as fit, and a trunk on the
 * left that branches to each. The renderer chooses the units: characters or pixels. Imports nothing, so that a browser runs it too.
 */

export interface Size {
  readonly width: number
  readonly height: number
}

export interface Box extends Size {
  readonly x: number
  readonly y: number
}

/** A horizontal or vertical line, both ends included. */
export interface Line {
  readonly x1: number
  readonly y1: number
  readonly x2: number
  readonly y2: number
}

export interface Metrics {
  /** Available width; a wider box gets a row of its own. */
  readonly width: number
  /** Between two boxes of a row. */
  readonly gap: number
  /** Where boxes begin, right of the trunk. */
  readonly margin: number
  readonly trunk: number
  /** From the left edge of a box to where its line enters. */
  readonly joint: number
  /** From the bottom of what is above to the branch, and from the branch to the boxes. */
  readonly above: number
  readonly below: number
  /** Where the line from outside begins, and where the router is. */
  readonly entry: number
  readonly top: number
}

export interface Layout extends Size {
  readonly router: Box
  /** In the order of the sizes. */
  readonly boxes: readonly Box[]
  readonly lines: readonly Line[]
}

/** Fills rows with the sizes, in their order. */
const inRows = (sizes: readonly Size[], room: number, gap: number): readonly (readonly Size[])[] => {
  const rows: Size[][] = []
  let left = 0
  for (const size of sizes) {
    const row = rows.at(-1)
    if (row === undefined || size.width + gap > left) {
      rows.push([size])
      left = room - size.width
    } else {
      row.push(size)
      left -= size.width + gap
    }
  }
  return rows
}

export const layOut = (routerSize: Size, sizes: readonly Size[], metrics: Metrics): Layout => {
  const { gap, margin, trunk, joint, above, below, entry, top } = metrics
  const router: Box = { x: 0, y: top, ...routerSize }
  const foot = top + router.height
  const boxes: Box[] = []
  const lines: Line[] = [{ x1: trunk, y1: entry, x2: trunk, y2: top }]
  let end = foot
  let trunkEnd = foot
  for (const row of inRows(sizes, metrics.width - margin, gap)) {
    const branch = end + above
    let x = margin
    for (const size of row) {
      boxes.push({ x, y: branch + below, ...size })
      lines.push({ x1: x + joint, y1: branch, x2: x + joint, y2: branch + below })
      x += size.width + gap
    }
    lines.push({ x1: trunk, y1: branch, x2: (boxes.at(-1)?.x ?? margin) + joint, y2: branch })
    trunkEnd = branch
    end = branch + below + Math.max(...row.map(({ height }) => height))
  }
  if (sizes.length > 0) lines.push({ x1: trunk, y1: foot, x2: trunk, y2: trunkEnd })
  const width = Math.max(...[router, ...boxes].map((box) => box.x + box.width))
  return { width, height: end, router, boxes, lines }
}
