import { defineConfig } from "vitest/config"

export default defineConfig({
  test: {
    include: ["packages/*/test/**/*.test.ts", "test/**/*.test.ts"],
    restoreMocks: true,
    testTimeout: 20_000,
    hookTimeout: 30_000,
  },
})
