import * as Schema from "effect/Schema"

export const DefaultRange = Schema.Struct({ defaultRangeID: Schema.String })
