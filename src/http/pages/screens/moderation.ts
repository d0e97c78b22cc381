// Screens that users have for themselves and the staff for the server: blocks and watched words.

import { type Localized, t } from '../../../platform/language.ts'
import { valueAt } from './api.ts'
import type { Part, Screen } from './parts.ts'
import { handle, handleText } from './words.ts'

interface Where {
  path: string
  menu: 'account' | 'admin'
  title: Localized
  /** The beginning of the operations' paths. */
  api: string
}

const removal = (path: string): string => ['DELETE', path].join(' ')

/** Blocked accounts and servers. */
export const blocks = ({ path, menu, title, api }: Where, more: readonly Part[] = []): Screen => ({
  path,
  title,
  menu,
  parts: [
    {
      list: 'accounts',
      title: t('Accounts'),
      operation: `GET ${api}/accounts`,
      id: (row) => handleText(row, 'blockedAccount'),
      columns: { Account: handle('blockedAccount'), Since: 'createdAt' },
      actions: { unblock: { label: t('Unblock'), operation: removal(`${api}/accounts/:accountName`) } },
      empty: t('No blocked accounts.'),
    },
    {
      form: 'account',
      operation: `POST ${api}/accounts`,
      fields: { accountName: { label: t('Account'), help: t('Such as name@video.example') } },
      button: t('Block the account'),
    },
    {
      list: 'servers',
      title: t('Servers'),
      operation: `GET ${api}/servers`,
      id: 'blockedServer.host',
      columns: { Server: 'blockedServer.host', Since: 'createdAt' },
      actions: { unblock: { label: t('Unblock'), operation: removal(`${api}/servers/:host`) } },
      empty: t('No blocked servers.'),
    },
    {
      form: 'server',
      operation: `POST ${api}/servers`,
      fields: { host: { label: t('Server'), help: t('Such as video.example') } },
      button: t('Block the server'),
    },
    ...more,
  ],
})

/** Lists of words whose comments are marked. */
export const watchedWords = ({ path, menu, api }: Omit<Where, 'title'>): Screen => ({
  path,
  title: t('Watched words'),
  menu,
  parts: [
    {
      list: 'lists',
      operation: `GET ${api}`,
      id: 'id',
      columns: { Name: 'listName', Words: 'words', Changed: 'updatedAt' },
      actions: { delete: { label: t('Delete'), operation: removal(`${api}/:listId`), danger: true } },
      empty: t('No lists yet.'),
    },
    {
      form: 'list',
      title: t('A new list'),
      operation: `POST ${api}`,
      fields: {
        listName: t('Name'),
        words: { label: t('Words'), as: 'lines', help: t('One in a line. Comments with them get the name of the list as a tag.') },
      },
      button: t('Make the list'),
    },
  ],
})

/** A request that nobody has decided. */
export const isPending = (row: unknown): boolean => valueAt(row, 'state.id') === 1
