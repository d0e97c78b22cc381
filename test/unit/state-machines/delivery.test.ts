// The machine `delivery`.

import { describe, expect, it } from '@jest/globals'
import { deliveryMachine, initialDelivery } from '../../../src/state-machines/delivery.ts'
import { step } from '../../../src/state-machines/step.ts'
import { failed, table } from './delivery.table.ts'
import { describeMachine } from './describe-machine.ts'

describeMachine(table)

describe('a delivery', () => {
  it('refused with both signature profiles is parked, not repeated', () => {
    const once = step(deliveryMachine, initialDelivery, { type: 'UNAUTHORIZED' })
    const twice = step(deliveryMachine, once, { type: 'UNAUTHORIZED' })
    expect([once.state, once.context.profile, twice.state, twice.context.reason]).toEqual(['waiting', 1, 'parked', 'refused'])
  })

  it('keeps the profile that the host accepts while the host fails for other reasons', () => {
    const once = step(deliveryMachine, initialDelivery, { type: 'UNAUTHORIZED' })
    expect(step(deliveryMachine, once, failed).context.profile).toBe(1)
  })
})
