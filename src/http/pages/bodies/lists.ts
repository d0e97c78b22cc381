// The lists of videos with a tab, by the addresses that web clients use.

export const LISTS = {
  latest: { name: 'Latest', title: 'Latest videos', path: '/videos/browse' },
  trending: { name: 'Trending', title: 'Trending videos', path: '/videos/browse?sort=-trending' },
  liked: { name: 'Most liked', title: 'Most liked videos', path: '/videos/browse?sort=-likes' },
  live: { name: 'Live', title: 'Live streams', path: '/videos/browse?isLive=true' },
  local: { name: 'Local', title: 'Videos of this server', path: '/videos/browse?scope=local' },
} as const

export type ListName = keyof typeof LISTS
