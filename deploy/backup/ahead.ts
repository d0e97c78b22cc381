// After a restore, new ids start well above the old ones: other servers know objects from after the backup by their ids, which must not be
// reused. Printed for psql when it is run by itself.

import { fileURLToPath } from 'node:url'

const GAP = 1000

export const AHEAD_SQL = `
  select setval(format('%I.%I', schemaname, sequencename)::regclass, least(coalesce(last_value, 0) + ${GAP}, max_value))
  from pg_sequences where schemaname = 'public'`

if (process.argv[1] === fileURLToPath(import.meta.url)) console.log(`${AHEAD_SQL};`)
