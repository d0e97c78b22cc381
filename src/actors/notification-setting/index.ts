export {
  columnOf,
  makeNotificationSettings,
  type NotificationSettingCommands,
  type NotificationSettings,
  notificationDefaults,
  notificationSettingsOf,
} from './notification-settings.ts'
