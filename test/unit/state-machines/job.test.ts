// The machine `job`.

import { describeMachine } from './describe-machine.ts'
import { table } from './job.table.ts'

describeMachine(table)
