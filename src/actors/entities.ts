// Every entity, for the composition of the database. Tables that only SQL writes to have none.

import { Account } from './account/account.entity.ts'
import { Actor } from './actor/actor.entity.ts'
import { Channel } from './channel/channel.entity.ts'
import { Follow } from './follow/follow.entity.ts'
import { Playlist, PlaylistElement } from './playlist/playlist.entity.ts'
import { Redundancy } from './redundancy/redundancy.entity.ts'
import { Registration } from './registration/registration.entity.ts'
import { RemoteHost } from './remote-host/remote-host.entity.ts'
import { Transcoding } from './transcoding/transcoding.entity.ts'
import { Upload } from './upload/upload.entity.ts'
import { User } from './user/user.entity.ts'
import { UserExport } from './user-export/user-export.entity.ts'
import { Thumbnail, Video, VideoSource } from './video/video.entity.ts'
import { VideoImport } from './video-import/video-import.entity.ts'

export const entities = [
  Account,
  Actor,
  Channel,
  Follow,
  Playlist,
  PlaylistElement,
  Redundancy,
  Registration,
  RemoteHost,
  Thumbnail,
  Transcoding,
  Upload,
  User,
  UserExport,
  Video,
  VideoImport,
  VideoSource,
]
