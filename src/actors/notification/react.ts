// Applies the table of rules: for each event, or several of one name, all its rules, in the order of the table.

import type { EventName, Registry } from '../runtime/index.ts'
import type { Notify } from './notify.ts'
import type { TabledRule } from './rule.ts'

export function reactByRules(
  { registry, notify }: { registry: Pick<Registry, 'onSeveral'>; notify: Notify },
  rules: readonly TabledRule[],
): void {
  for (const event of new Set<EventName>(rules.flatMap(({ on }) => on))) {
    const ofEvent = rules.filter(({ on }) => on.includes(event))
    registry.onSeveral(event, 'notifications', async (payloads, unit) => {
      for (const one of ofEvent) {
        for (const values of one.audiences(payloads)) await notify(unit, one, values)
      }
    })
  }
}
