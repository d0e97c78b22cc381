// Screens of moderators: reports, blocks, users, registrations.

import { html } from '../../../platform/html.ts'
import { t } from '../../../platform/language.ts'
import { valueAt } from './api.ts'
import { blocks, isPending, watchedWords } from './moderation.ts'
import type { Screen } from './parts.ts'
import { handle, reportColumns, videoLink } from './words.ts'

const ROLES = { 0: t('Administrator'), 1: t('Moderator'), 2: t('User') }

export const moderationScreens: readonly Screen[] = [
  {
    path: '/admin/abuses',
    title: t('Reports'),
    menu: 'admin',
    parts: [
      {
        list: 'abuses',
        operation: 'GET /api/v1/abuses',
        id: 'id',
        columns: reportColumns,
        filters: { filter: t('About') },
        inputs: { operation: 'PUT /api/v1/abuses/:id', fields: { moderationComment: { label: t('Note for the staff'), as: 'long' } } },
        actions: {
          accept: {
            label: t('Accept'),
            operation: 'PUT /api/v1/abuses/:id',
            body: (_id, typed) => ({ state: 3, ...typed }),
            when: (row) => valueAt(row, 'state.id') !== 3,
          },
          reject: {
            label: t('Reject'),
            operation: 'PUT /api/v1/abuses/:id',
            body: (_id, typed) => ({ state: 2, ...typed }),
            when: (row) => valueAt(row, 'state.id') !== 2,
          },
          delete: { label: t('Delete'), operation: 'DELETE /api/v1/abuses/:id', danger: true },
        },
        empty: t('No reports.'),
      },
    ],
  },
  {
    path: '/admin/abuses/:id',
    title: t('Conversation about a report'),
    menu: 'admin',
    unlisted: true,
    parts: [
      {
        list: 'messages',
        operation: 'GET /api/v1/abuses/:id/messages',
        id: 'id',
        columns: { From: handle('account'), Message: 'message', Sent: 'createdAt' },
        actions: { delete: { label: t('Delete'), operation: 'DELETE /api/v1/abuses/:id/messages/:messageId' } },
        empty: t('No messages yet.'),
      },
      {
        form: 'message',
        operation: 'POST /api/v1/abuses/:id/messages',
        fields: { message: { label: t('Message to the reporter'), as: 'long' } },
        button: t('Send'),
      },
    ],
  },
  {
    path: '/admin/video-blocks',
    title: t('Blocked videos'),
    menu: 'admin',
    parts: [
      {
        list: 'blocked',
        operation: 'GET /api/v1/videos/blacklist',
        id: 'video.id',
        columns: { Video: videoLink('video.'), Reason: 'reason', Since: 'createdAt' },
        actions: { unblock: { label: t('Unblock'), operation: 'DELETE /api/v1/videos/:id/blacklist' } },
        empty: t('No blocked videos.'),
      },
      {
        form: 'block',
        title: t('Block a video'),
        operation: 'POST /api/v1/videos/:id/blacklist',
        inPath: ['id'],
        fields: {
          id: { label: t('Video'), help: t('Its id, as in the address of its page.') },
          reason: { label: t('Reason'), as: 'long' },
          unfederate: { label: t('Tell other servers to delete it'), as: 'check' },
        },
        button: t('Block'),
      },
    ],
  },
  blocks({ path: '/admin/blocklist', menu: 'admin', title: t('Blocked accounts and servers'), api: '/api/v1/server/blocklist' }),
  watchedWords({ path: '/admin/watched-words', menu: 'admin', api: '/api/v1/watched-words/server/lists' }),
]

export const peopleScreens: readonly Screen[] = [
  {
    path: '/admin/users',
    title: t('Users'),
    menu: 'admin',
    parts: [
      {
        list: 'users',
        operation: 'GET /api/v1/users',
        id: 'id',
        columns: {
          Name: (row) => html`<a href="/admin/users/${String(valueAt(row, 'id'))}"><bdi>${String(valueAt(row, 'username'))}</bdi></a>`,
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
            body: (_id, typed) => typed,
            when: (row) => valueAt(row, 'blocked') === false && valueAt(row, 'role.id') === 2,
          },
          unblock: {
            label: t('Unblock'),
            operation: 'POST /api/v1/users/:id/unblock',
            body: () => ({}),
            when: (row) => valueAt(row, 'blocked') === true,
          },
          delete: { label: t('Delete'), operation: 'DELETE /api/v1/users/:id', danger: true, when: (row) => valueAt(row, 'role.id') === 2 },
        },
        empty: t('No users.'),
      },
      {
        form: 'new',
        title: t('A new user'),
        operation: 'POST /api/v1/users',
        fields: {
          username: t('User name'),
          email: t('E-mail address'),
          password: { label: t('Password'), as: 'password', help: t('Empty if a mail shall ask for it.') },
          role: { label: t('Role'), choices: ROLES },
        },
        initial: () => ({ role: 2 }),
        button: t('Make the user'),
      },
    ],
  },
  {
    path: '/admin/users/:id',
    title: t('Edit the user'),
    menu: 'admin',
    unlisted: true,
    reads: { user: 'GET /api/v1/users/:id' },
    parts: [
      {
        form: 'user',
        operation: 'PUT /api/v1/users/:id',
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
        button: t('Save'),
      },
    ],
  },
  {
    path: '/admin/registrations',
    title: t('Registrations'),
    menu: 'admin',
    parts: [
      {
        list: 'registrations',
        operation: 'GET /api/v1/users/registrations',
        id: 'id',
        columns: {
          Name: 'username',
          'E-mail': 'email',
          Reason: 'registrationReason',
          State: 'state',
          Answer: 'moderationResponse',
          Asked: 'createdAt',
        },
        inputs: {
          operation: 'POST /api/v1/users/registrations/:registrationId/accept',
          fields: { moderationResponse: { label: t('Answer, which is mailed'), as: 'long' } },
        },
        actions: {
          accept: {
            label: t('Accept'),
            operation: 'POST /api/v1/users/registrations/:registrationId/accept',
            body: (_id, typed) => typed,
            when: isPending,
          },
          reject: {
            label: t('Reject'),
            operation: 'POST /api/v1/users/registrations/:registrationId/reject',
            body: (_id, typed) => typed,
            when: isPending,
          },
          delete: { label: t('Delete'), operation: 'DELETE /api/v1/users/registrations/:registrationId', danger: true },
        },
        empty: t('Nobody asks for an account.'),
      },
    ],
  },
]
