// The machine `runner-job`.

import { describeMachine } from './describe-machine.ts'
import { table } from './runner-job.table.ts'

describeMachine(table)
