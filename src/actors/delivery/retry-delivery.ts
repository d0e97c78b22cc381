// Another try for one delivery that was given up.

import {
  type DeliveryContext,
  type DeliveryState,
  deliveryMachine,
  initialDelivery,
} from '../../state-machines/delivery.ts'
import { can, step } from '../../state-machines/step.ts'
import { DomainError, notFound, type Unit } from '../runtime/index.ts'
import { DELIVERY_LANE } from './enqueue.ts'

/** Throws `not_found` when there is no such delivery, `conflict` when it was not given up. */
export async function retryDelivery(unit: Unit, id: number): Promise<void> {
  const [row] = await unit.query<{ hostId: number; state: DeliveryState; context: Partial<DeliveryContext> }>(
    'select host_id as "hostId", state, context from delivery where id = $1 for no key update',
    [id],
  )
  if (!row) throw notFound('This delivery does not exist.')
  const from = { state: row.state, context: { ...initialDelivery.context, ...row.context } }
  const event = { type: 'RETRIED' } as const
  if (!can(deliveryMachine, from, event)) throw new DomainError('conflict', 'This delivery did not fail.')
  const { state, context } = step(deliveryMachine, from, event)
  await unit.query('update delivery set state = $2, context = $3, error = null, due_at = null where id = $1', [
    id,
    state,
    JSON.stringify(context),
  ])
  unit.wake(DELIVERY_LANE, String(row.hostId))
}
