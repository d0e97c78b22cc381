// The lists of videos with a tab, by the addresses that web clients use.

import { t } from '../../../platform/language.ts'

export const LISTS = {
  latest: { name: t('Latest'), title: t('Latest videos'), path: '/videos/browse' },
  trending: { name: t('Trending'), title: t('Trending videos'), path: '/videos/browse?sort=-trending' },
  liked: { name: t('Most liked'), title: t('Most liked videos'), path: '/videos/browse?sort=-likes' },
  live: { name: t('Live'), title: t('Live streams'), path: '/videos/browse?isLive=true' },
  local: { name: t('Local'), title: t('Videos of this server'), path: '/videos/browse?scope=local' },
} as const

export type ListName = keyof typeof LISTS
