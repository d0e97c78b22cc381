// The machine `job-queue`.

import { describeMachine } from './describe-machine.ts'
import { table } from './job-queue.table.ts'

describeMachine(table)
