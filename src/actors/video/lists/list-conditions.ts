// Conditions that select the videos of a list: by privacy and state, by owner, and by filters.

import { containing } from '../../../platform/database/index.ts'
import { videosTagged } from '../../automatic-tag/index.ts'
import { FEDERATED_PRIVACIES, isListedPrivacy, LISTED_PRIVACIES, SHARED_PRIVACIES, videoPrivacies } from '../video.entity.ts'
import type { Bind, Span, VideoListFilters, VideoListQuery, VideoListScope } from './list-query.ts'

/** Public and internal videos that are published: the partial indexes of the lists contain these. */
export const LISTED = `v.privacy in ${LISTED_PRIVACIES} and v.state = 'published'`
/** All others that are not removed; only the staff may list them. */
export const UNLISTED = `(v.privacy not in ${LISTED_PRIVACIES} or v.state <> 'published') and v.state <> 'removed'`

/** True if the list may contain videos that `LISTED` excludes. */
export const isBeyondListed = ({ scope, unpublished, privacyOneOf }: VideoListQuery): boolean =>
  scope.of !== 'owner' && (Boolean(unpublished) || (privacyOneOf?.some((privacy) => !isListedPrivacy(privacy)) ?? false))

/** The lists of followed, watched and own videos are already limited to what the user may see. */
const OF_OTHERS: ReadonlySet<VideoListScope['of']> = new Set(['everybody', 'account', 'channel'])

/** The table `v` that has the columns of the conditions, of the order by publication, and the id. */
export const tableOf = (query: VideoListQuery): string => (onlyTag(query) === undefined ? 'video v' : 'video_tag v')

/** All conditions except the channels, which `channelsOf` returns. */
export function conditions(query: VideoListQuery, bind: Bind): string[] {
  const tag = onlyTag(query)
  if (tag !== undefined) return [privacyCondition(query), ...nsfwCondition(query), `v.tag = ${bind(tag)}`]
  const isShown = query.blocked || query.scope.of === 'owner' ? [] : ['not v.blocked']
  const isFollowed = query.strangers || query.named !== undefined || !OF_OTHERS.has(query.scope.of) ? [] : ['v.listed']
  return [...visibility(query), ...isShown, ...isFollowed, ...scopeOf(query.scope, bind), ...filters(query, bind)]
}

/** The tag of a public list of all videos with one tag, by publication: `video_tag` has its videos in this order. */
function onlyTag(query: VideoListQuery): string | undefined {
  const { scope, sort, start, count, skipCount, internal, nsfw, mutedFor, watcher, include, totalUnmuted, ...others } = query
  const { tagsOneOf = [], tagsAllOf = [], unpublished, blocked, strangers, ...filters } = others
  const [tag, ...more] = [...tagsOneOf, ...tagsAllOf]
  const isPublic = scope.of === 'everybody' && !unpublished && !blocked && !strangers
  const isAlone = more.length === 0 && Object.values(filters).every((filter) => filter === undefined)
  return isPublic && isAlone && sort.by === 'publishedAt' ? tag : undefined
}

/** True if the best plan depends on the values: a plan that walks an order finds rare matches late. */
export const isSelective = (query: VideoListQuery): boolean =>
  onlyTag(query) === undefined &&
  [
    query.categoryOneOf,
    query.licenceOneOf,
    query.languageOneOf,
    query.tagsOneOf,
    query.tagsAllOf,
    query.autoTagOneOf,
    query.search,
    query.uuids,
    query.publishedAt,
    query.originallyPublishedAt,
    query.duration,
    query.host ?? undefined,
    query.notWatchedBy,
  ].some((filter) => filter !== undefined)

/** False for what few clients ask for: each combination of these is a text of its own, and would displace the statements that many use. */
export const isCommon = ({ isLive, hasHlsFiles, hasWebVideoFiles, privacyOneOf, sort }: VideoListQuery): boolean =>
  sort.descending && [isLive, hasHlsFiles, hasWebVideoFiles, privacyOneOf].every((filter) => filter === undefined)

/** SQL for the ids of the channels whose videos are listed; undefined if the list does not filter by channel. */
export function channelsOf({ scope, host }: VideoListQuery, bind: Bind): string | undefined {
  const sets = [
    ...(scope.of === 'account' || scope.of === 'owner' ? [`select id from channel where account_id = ${bind(scope.accountId)}`] : []),
    ...(scope.of === 'followed' ? [followedBy(scope.followerActorId, bind)] : []),
    ...(host === undefined || host === null ? [] : [onHost(host, bind)]),
  ]
  return sets.length === 0 ? undefined : sets.join(' intersect ')
}

function visibility(query: VideoListQuery): string[] {
  if (query.scope.of === 'owner') return ["v.state <> 'removed'", 'not v.remote']
  const state = stateCondition(query.unpublished)
  if (query.privacyOneOf) return [state, `v.privacy in (${query.privacyOneOf.map(Number).join(', ') || 'null'})`]
  if (query.named !== undefined) return [state, `v.privacy in ${query.internal ? SHARED_PRIVACIES : FEDERATED_PRIVACIES}`]
  return [state, privacyCondition(query)]
}

const privacyCondition = ({ internal }: VideoListQuery): string =>
  internal ? `v.privacy in ${LISTED_PRIVACIES}` : `v.privacy = ${videoPrivacies.public}`

const nsfwCondition = ({ nsfw }: VideoListFilters): string[] => (nsfw === undefined ? [] : [nsfw ? 'v.nsfw' : 'not v.nsfw'])

function stateCondition(unpublished: VideoListQuery['unpublished']): string {
  if (unpublished === 'waiting-for-live') return "v.state in ('published', 'waiting-for-live')"
  return unpublished ? "v.state <> 'removed'" : "v.state = 'published'"
}

function scopeOf(of: VideoListScope, bind: Bind): string[] {
  switch (of.of) {
    case 'everybody':
    case 'account':
    case 'followed':
      return []
    case 'channel':
      return [`v.channel_id = ${bind(of.channelId)}`]
    case 'owner':
      return of.channelId === undefined ? [] : [`v.channel_id = ${bind(of.channelId)}`]
    case 'watched':
      return [`seen.account_id = ${bind(of.accountId)}`]
  }
}

const followedBy = (actorId: number, bind: Bind): string =>
  `select fc.id from channel fc where fc.actor_id = any(array(
    select f.target_id from follow f where f.follower_id = ${bind(actorId)} and f.state in ('pending', 'accepted')))`

function filters(query: VideoListFilters & { named?: number | undefined }, bind: Bind): string[] {
  const { isLocal, isLive, categoryOneOf, licenceOneOf, tagsOneOf, tagsAllOf, host } = query
  const found = nsfwCondition(query)
  if (isLocal !== undefined) found.push(isLocal ? 'not v.remote' : 'v.remote')
  if (isLive !== undefined) found.push(isLive ? 'v.is_live' : 'not v.is_live')
  if (categoryOneOf) found.push(`v.category = any(${bind(categoryOneOf)}::smallint[])`)
  if (licenceOneOf) found.push(`v.licence = any(${bind(licenceOneOf)}::smallint[])`)
  if (query.languageOneOf) found.push(language(query.languageOneOf, bind))
  if (tagsOneOf) found.push(`lower_tags(v.tags) && ${bind(tagsOneOf)}::text[]`)
  if (tagsAllOf) found.push(`lower_tags(v.tags) @> ${bind(tagsAllOf)}::text[]`)
  if (query.autoTagOneOf) found.push(`v.id in (${videosTagged(query.autoTagOneOf, bind)})`)
  if (query.search) found.push(searched(query, bind))
  if (query.named !== undefined) found.push(`v.id = ${bind(query.named)}`)
  if (query.uuids) found.push(`v.uuid = any(${bind(query.uuids)}::uuid[])`)
  if (query.notWatchedBy !== undefined) found.push(`not exists (${watchedBy(bind(query.notWatchedBy))})`)
  found.push(...within('v.published_at', query.publishedAt, bind))
  found.push(...within('v.originally_published_at', query.originallyPublishedAt, bind))
  found.push(...within('v.duration', query.duration, bind))
  if (host === null) found.push('not v.remote')
  if (query.hasHlsFiles !== undefined) found.push(query.hasHlsFiles ? 'v.has_hls' : 'not v.has_hls')
  if (query.hasWebVideoFiles !== undefined) {
    found.push(query.hasWebVideoFiles ? 'v.has_web_videos' : 'not v.has_web_videos')
  }
  return found
}

function within(column: string, { from, to }: Span<Date | number> = {}, bind: Bind): string[] {
  return [...(from === undefined ? [] : [`${column} >= ${bind(from)}`]), ...(to === undefined ? [] : [`${column} <= ${bind(to)}`])]
}

function language(codes: string[], bind: Bind): string {
  const known = codes.filter((code) => code !== '_unknown')
  const one = `v.language = any(${bind(known)}::text[])`
  return known.length === codes.length ? one : `(v.language is null or ${one})`
}

/** Matches of a search: names that contain the text, names and tags that contain all its words, similar names. Each has an index. */
export function searched({ search = '', alike, byWord }: Pick<VideoListFilters, 'search' | 'alike' | 'byWord'>, bind: Bind): string {
  // Punctuation alone has no words, but may be a tag.
  const hasWords = /[\p{L}\p{N}]/u.test(search)
  const words = hasWords ? `v.words @@ search_words(${bind(search)})` : `lower_tags(v.tags) @> array[lower(${bind(search)})]`
  if (byWord) return words
  return `(v.name ilike ${bind(containing(search))} or ${words}${alike ? ` or v.name % ${bind(search)}` : ''})`
}

const onHost = (host: string, bind: Bind): string =>
  `select c.id from channel_search c join remote_host h on h.id = c.host_id where h.host = ${bind(host)}`

const watchedBy = (account: string): string => `select 1 from history h where h.account_id = ${account} and h.video_id = v.id`
