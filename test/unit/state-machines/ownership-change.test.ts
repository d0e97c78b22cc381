// The machine `ownership-change`.

import { describeMachine } from './describe-machine.ts'
import { table } from './ownership-change.table.ts'

describeMachine(table)
