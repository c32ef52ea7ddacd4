import { DatabaseSync } from "node:sqlite"

// holds the write lock of a database until its standard input ends, as another program may
const database = new DatabaseSync(process.argv[2] ?? "")
database.exec("begin exclusive")
process.stdout.write("held\n")
process.stdin.resume().on("end", () => {
  database.exec("rollback")
  database.close()
})
