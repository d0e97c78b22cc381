// Screens of moderators: reports, blocks, users, registrations.

import { t } from '../../../platform/language.ts'
import { blocks, conversation, watchedWords } from './moderation.ts'
import { form, type ListPart, list, type Screen, screen } from './parts.ts'
import { handle, is, isNot, link, readable, reportColumns, sendsMail, videoLink } from './words.ts'

const REGISTRATION = '/api/v1/users/registrations/:registrationId'
const PASSWORD = { label: t('Password'), as: 'password' } as const
const ROLES = { 0: t('Administrator'), 1: t('Moderator'), 2: t('User') }

const reports: Omit<ListPart, 'list' | 'operation'> = {
  columns: reportColumns,
  inputs: { operation: 'PUT /api/v1/abuses/:id', fields: { moderationComment: { label: t('Note for the staff'), as: 'long' } } },
  actions: {
    accept: { label: t('Accept'), operation: 'PUT /api/v1/abuses/:id', body: { state: 3 }, when: isNot('state.id', 3) },
    reject: { label: t('Reject'), operation: 'PUT /api/v1/abuses/:id', body: { state: 2 }, when: isNot('state.id', 2) },
    delete: { label: t('Delete'), operation: 'DELETE /api/v1/abuses/:id', danger: true },
  },
  empty: t('No reports.'),
}

export const moderationScreens: readonly Screen[] = [
  screen('/admin/abuses', t('Reports'), [list('abuses', 'GET /api/v1/abuses', { ...reports, filters: { filter: t('About') } })]),
  screen('/admin/abuses/:id', t('Conversation about a report'), { reads: { report: 'GET /api/v1/abuses?id=:id' } }, [
    list('abuses', 'GET /api/v1/abuses', { ...reports, query: ({ values }) => ({ id: String(values.id) }) }),
    ...conversation(t('Message to the reporter'), handle('account.'), {
      delete: { label: t('Delete'), operation: 'DELETE /api/v1/abuses/:id/messages/:messageId' },
    }),
  ]),
  screen('/admin/video-blocks', t('Blocked videos'), [
    list('blocked', 'GET /api/v1/videos/blacklist', {
      id: 'video.id',
      columns: { Video: videoLink('video.'), Reason: 'reason', Since: 'createdAt' },
      actions: { unblock: { label: t('Unblock'), operation: 'DELETE /api/v1/videos/:id/blacklist' } },
      empty: t('No blocked videos.'),
    }),
    form('block', 'POST /api/v1/videos/:id/blacklist', {
      title: t('Block a video'),
      inPath: ['id'],
      fields: {
        id: { label: t('Video'), help: t('Its id, or the address of its page.') },
        reason: { label: t('Reason'), as: 'long' },
        unfederate: { label: t('Tell other servers to delete it'), as: 'check' },
      },
      button: t('Block'),
    }),
  ]),
  blocks({ path: '/admin/blocklist', title: t('Blocked accounts and servers'), api: '/api/v1/server/blocklist' }),
  ...watchedWords({ path: '/admin/watched-words', api: '/api/v1/watched-words/server/lists' }),
]

export const peopleScreens: readonly Screen[] = [
  screen('/admin/users', t('Users'), [
    list('users', 'GET /api/v1/users', {
      columns: {
        Name: link('/admin/users', 'id', 'username'),
        'E-mail': 'email',
        Role: 'role',
        Blocked: 'blocked',
        Since: 'createdAt',
        'Last login': 'lastLoginDate',
      },
      filters: { blocked: t('Blocked') },
      inputs: { operation: 'POST /api/v1/users/:id/block', fields: { reason: { label: t('Reason of a block'), as: 'long' } } },
      actions: {
        block: {
          label: t('Block'),
          operation: 'POST /api/v1/users/:id/block',
          body: {},
          when: (row) => is('blocked', false)(row) && is('role.id', 2)(row),
        },
        unblock: { label: t('Unblock'), operation: 'POST /api/v1/users/:id/unblock', body: () => ({}), when: is('blocked', true) },
        delete: { label: t('Delete'), operation: 'DELETE /api/v1/users/:id', danger: true, when: is('role.id', 2) },
      },
      empty: t('No users.'),
    }),
    form('new', 'POST /api/v1/users', {
      title: t('A new user'),
      fields: (shown) => ({
        username: t('User name'),
        email: t('E-mail address'),
        password: { ...PASSWORD, ...(sendsMail(shown) ? { help: t('Empty if a mail shall ask for it.') } : { required: true }) },
        role: { label: t('Role'), choices: ROLES },
      }),
      initial: () => ({ role: 2 }),
      button: t('Make the user'),
    }),
  ]),
  screen('/admin/users/:id', t('Edit the user'), { reads: { user: 'GET /api/v1/users/:id' } }, [
    form('user', 'PUT /api/v1/users/:id', {
      initial: ({ data }) => data.user,
      changesOnly: true,
      fields: {
        email: t('E-mail address'),
        emailVerified: { label: t('The address is verified'), as: 'check' },
        role: { label: t('Role'), choices: ROLES },
        videoQuota: { label: t('Bytes of videos'), help: t('-1 for any.') },
        videoQuotaDaily: { label: t('Bytes of videos in a day'), help: t('-1 for any.') },
        password: { label: t('New password'), as: 'password' },
      },
    }),
  ]),
  screen('/admin/registrations', t('Registrations'), [
    list('registrations', 'GET /api/v1/users/registrations', {
      columns: {
        Name: 'username',
        'E-mail': 'email',
        Reason: readable('registrationReason'),
        State: 'state',
        Answer: readable('moderationResponse'),
        Asked: 'createdAt',
      },
      inputs: {
        operation: `POST ${REGISTRATION}/accept`,
        fields: (shown) => ({
          moderationResponse: sendsMail(shown)
            ? { label: t('Answer, which is mailed'), as: 'long' }
            : { label: t('Answer'), as: 'long', help: t('This server sends no mails now.') },
        }),
      },
      actions: {
        accept: { label: t('Accept'), operation: `POST ${REGISTRATION}/accept`, body: {}, when: is('state.id', 1) },
        reject: { label: t('Reject'), operation: `POST ${REGISTRATION}/reject`, body: {}, when: is('state.id', 1) },
        delete: { label: t('Delete'), operation: 'DELETE /api/v1/users/registrations/:registrationId', danger: true },
      },
      empty: t('Nobody asks for an account.'),
    }),
  ]),
]
