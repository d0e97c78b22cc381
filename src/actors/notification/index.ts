export { makeMailBatches } from './mail-batches.ts'
export { notifySubscribers } from './new-video.ts'
export { makeNotifications, type Notifications } from './notification.commands.ts'
export {
  type ActorInfoRow,
  findNotification,
  listNotifications,
  type NotificationListQuery,
  type NotificationRow,
  type VideoInfoRow,
} from './notification.queries.ts'
export { makeNotify, NOTIFICATION_STORED, type NotificationStored, type Notify } from './notify.ts'
export { listPushDevices, makePushes, type PushDeviceRow, type Pushes, type PushWords } from './push.ts'
export { reactByRules } from './react.ts'
export { rightsOfSettings } from './rights.ts'
export { RULES } from './rules/index.ts'
export { type NotificationType, notificationTypes } from './types.ts'
