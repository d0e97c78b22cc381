// Carries the table of rules out: at each event, all its rules, in the order of the table.

import type { EventName, Registry } from '../runtime/index.ts'
import type { Notify } from './notify.ts'
import type { TabledRule } from './rule.ts'

export function reactByRules(
  { registry, notify }: { registry: Pick<Registry, 'on'>; notify: Notify },
  rules: readonly TabledRule[],
): void {
  for (const event of new Set<EventName>(rules.flatMap(({ on }) => on))) {
    const ofEvent = rules.filter(({ on }) => on.includes(event))
    registry.on(event, 'notifications', async (payload, unit) => {
      for (const one of ofEvent) {
        const values = one.values(payload)
        if (values) await notify(unit, one, values)
      }
    })
  }
}
