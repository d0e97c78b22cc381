// Metadata of the page of an account or channel.

import type { ActorProfile } from '../../../actors/actor/index.ts'
import { webUrl } from '../../../platform/html.ts'
import { t } from '../../../platform/language.ts'
import type { Here } from '../../videos/actor.view.ts'
import { accountPath, avatarPath, channelPath } from '../addresses.ts'
import type { Site } from '../site.ts'
import type { Facts } from './tags.ts'
import { descriptionText, titleText } from './text.ts'

/** px; wide enough for cards. */
const IMAGE_WIDTH = 600

export function actorFacts({ kind, actor }: { kind: 'account' | 'channel'; actor: ActorProfile }, site: Site, here: Here): Facts {
  const url = here.origin + (kind === 'account' ? accountPath(actor) : channelPath(actor))
  const name = titleText(actor.name)
  const description = descriptionText(actor.description)
  const avatar = avatarPath(actor, IMAGE_WIDTH)
  const image = avatar === undefined ? null : here.origin + avatar
  const feed = `${here.origin}/feeds/videos.xml?${kind === 'account' ? 'accountId' : 'videoChannelId'}=${actor.id}`
  return {
    name,
    url,
    image,
    description: description || site.description,
    type: 'website',
    canonical: actor.host === null ? undefined : webUrl(actor.url),
    isIndexed: actor.host === null,
    feeds: [{ title: t('Videos of {name}', { name }), href: feed }],
    document: webUrl(actor.url),
    schema: {
      '@context': 'http://schema.org',
      '@type': 'ProfilePage',
      dateCreated: new Date(actor.created_at).toISOString(),
      dateModified: new Date(actor.updated_at).toISOString(),
      mainEntity: { '@id': '#main-author', '@type': 'Person', name, description, ...(image ? { image } : {}) },
    },
  }
}
