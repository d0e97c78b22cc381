// Every entity, for the composition of the database.

import { Account } from './account/account.entity.ts'
import { Actor } from './actor/actor.entity.ts'
import { Channel } from './channel/channel.entity.ts'
import { Comment } from './comment/comment.entity.ts'
import { Follow } from './follow/follow.entity.ts'
import { Playlist, PlaylistElement } from './playlist/playlist.entity.ts'
import { Rating } from './rating/rating.entity.ts'
import { Redundancy } from './redundancy/redundancy.entity.ts'
import { Registration } from './registration/registration.entity.ts'
import { RemoteHost } from './remote-host/remote-host.entity.ts'
import { Transcoding } from './transcoding/transcoding.entity.ts'
import { Upload } from './upload/upload.entity.ts'
import { User } from './user/user.entity.ts'
import { StreamingPlaylist, Thumbnail, Video, VideoFile, VideoSource } from './video/video.entity.ts'

export const entities = [
  Account,
  Actor,
  Channel,
  Comment,
  Follow,
  Playlist,
  PlaylistElement,
  Rating,
  Redundancy,
  Registration,
  RemoteHost,
  StreamingPlaylist,
  Thumbnail,
  Transcoding,
  Upload,
  User,
  Video,
  VideoFile,
  VideoSource,
]
