export {
  changeNotificationSettings,
  columnOf,
  findNotificationSettings,
  makeNotificationSettings,
  type NotificationSettingCommands,
  type NotificationSettings,
  notificationDefaults,
  notificationSettingsOf,
} from './notification-settings.ts'
