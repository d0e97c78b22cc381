// Retries deliveries that were given up, or wait for their host.

import type { Aliased } from '../../platform/database/index.ts'
import type { RemoteHosts } from '../remote-host/index.ts'
import { advanceRow, inBulk, notFound, type Unit } from '../runtime/index.ts'
import type { Delivery } from './delivery.entity.ts'
import { deliveryLifecycle } from './delivery.lifecycle.ts'
import { DELIVERY_LANE } from './enqueue.ts'

const RETRIED = inBulk(deliveryLifecycle, { type: 'RETRIED' })
const HOST_RETRIED = inBulk(deliveryLifecycle, { type: 'HOST_RETRIED' })

/** Throws `not_found`, and `conflict` unless it was given up. */
export async function retryDelivery(unit: Unit, id: number): Promise<void> {
  const [row] = await unit.query<Aliased<typeof Delivery, 'id' | 'hostId' | 'state'> & { context: object }>(
    'select id, host_id as "hostId", state, context from delivery where id = $1 for no key update',
    [id],
  )
  if (!row) throw notFound('This delivery does not exist.')
  await advanceRow(unit, deliveryLifecycle, row, { type: 'RETRIED' }, { error: null })
  unit.wake(DELIVERY_LANE, String(row.hostId))
}

/**
 * Retries everything that waits for the host now, including parked deliveries, since an admin requests it. Throws `not_found` for an
 * unknown host.
 */
export async function retryHost(hosts: Pick<RemoteHosts, 'retry'>, host: string): Promise<void> {
  await hosts.retry(host, async (unit, hostId) => {
    await unit.query(`update delivery set ${RETRIED.set}, error = null, due_at = null where host_id = $1 and ${RETRIED.where}`, [hostId])
    await unit.query(
      `update delivery set ${HOST_RETRIED.set}, due_at = null
       where host_id = $1 and ${HOST_RETRIED.where} and due_at is not null`,
      [hostId],
    )
  })
}
