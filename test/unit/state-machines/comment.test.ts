// The machine `comment`.

import { table } from './comment.table.ts'
import { describeMachine } from './describe-machine.ts'

describeMachine(table)
