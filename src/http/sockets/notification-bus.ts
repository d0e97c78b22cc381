// Notifications stored by any process, as received from the bus.

import { z } from 'zod'
import { NOTIFICATION_STORED, type NotificationStored } from '../../actors/notification/index.ts'
import type { Bus } from '../../platform/bus/index.ts'

const stored = z.object({ userId: z.int(), notificationId: z.int() })

/** Returns the function that unsubscribes. */
export function listenForNotifications(bus: Pick<Bus, 'subscribe'>, listener: (stored: NotificationStored) => void): () => void {
  return bus.subscribe(NOTIFICATION_STORED, (payload) => listener(stored.parse(payload)))
}
