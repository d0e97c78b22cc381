// The lifecycle of a delivery: the machine `delivery`. A sent delivery has no row.

import { deliveryMachine, dueIn, initialDelivery } from '../../state-machines/delivery.ts'
import { DomainError, defineLifecycle } from '../runtime/index.ts'

export const deliveryLifecycle = defineLifecycle({
  table: 'delivery',
  machine: deliveryMachine,
  initial: initialDelivery,
  touches: false,
  dueIn: (state, context) => dueIn(state, context),
  endOfWait: (wait, { context }) => context.failedAt + wait,
  refusal: () => new DomainError('conflict', 'This delivery did not fail.'),
})
