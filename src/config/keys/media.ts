// Keys of media work: transcoding, live streams, studio, transcription, images, imports and exports, runners.

import { duration, EDITABLE, flag, integer, limitedDuration, optionalText, port, records, section, size, text, texts } from '../kinds.ts'
import { imageSize } from './items.ts'

const rendition = (name: string) => flag(false, `whether ${name} is made, when the input is not smaller`, EDITABLE)

const resolutions = () =>
  section({
    '0p': flag(false, 'whether a file with sound alone is made', EDITABLE),
    '144p': rendition('144p'),
    '240p': rendition('240p'),
    '360p': rendition('360p'),
    '480p': rendition('480p'),
    '720p': rendition('720p'),
    '1080p': rendition('1080p'),
    '1440p': rendition('1440p'),
    '2160p': rendition('2160p'),
  })

const remoteRunners = (work: string) =>
  section({ enabled: flag(false, `whether remote runners do the ${work} in place of this server`, EDITABLE) })

const rtmp = (number: number) => ({
  hostname: optionalText(null, 'address to listen on; null: all'),
  port: port(number, 'port to listen on'),
  public_hostname: optionalText(null, 'host shown to streamers; null: `webserver.hostname`'),
})

export const mediaKeys = {
  transcoding: section({
    enabled: flag(true, 'whether uploads are transcoded', EDITABLE),
    original_file: section({ keep: flag(false, 'whether the original is retained in addition to its renditions', EDITABLE) }),
    allow_additional_extensions: flag(true, 'whether uploads may be mkv, mov, avi and the like', EDITABLE),
    allow_audio_files: flag(true, 'whether sound files become videos with their preview', EDITABLE),
    remote_runners: remoteRunners('transcoding'),
    threads: integer(1, 'threads of one ffmpeg; 0: ffmpeg decides', EDITABLE),
    concurrency: integer(1, 'videos transcoded at once by one process', { ...EDITABLE, min: 1 }),
    profile: text('default', 'transcoding profile', EDITABLE),
    resolutions: resolutions(),
    always_transcode_original_resolution: flag(true, "whether the input's own resolution is made too", EDITABLE),
    fps: section({ max: integer(60, 'frames per second at most', { ...EDITABLE, min: 1 }) }),
    web_videos: section({ enabled: flag(false, 'whether plain MP4 files are made', EDITABLE) }),
    hls: section({
      enabled: flag(true, 'whether HLS is made', EDITABLE),
      split_audio_and_video: flag(false, 'whether HLS carries sound in a rendition of its own', EDITABLE),
    }),
  }),
  live: section({
    enabled: flag(false, 'whether users may stream live', EDITABLE),
    max_duration: limitedDuration(-1, 'longest live stream', EDITABLE),
    max_instance_lives: integer(20, 'live streams at once; -1: no limit', { ...EDITABLE, min: -1 }),
    max_user_lives: integer(3, 'live streams of one user at once; -1: no limit', { ...EDITABLE, min: -1 }),
    allow_replay: flag(true, 'whether streams may be saved as videos', EDITABLE),
    latency_setting: section({ enabled: flag(true, 'whether streamers choose the latency', EDITABLE) }),
    rtmp: section({ enabled: flag(true, 'whether RTMP is taken'), ...rtmp(1935) }),
    rtmps: section({
      enabled: flag(false, 'whether RTMP over TLS is taken'),
      ...rtmp(1936),
      key_file: text('', 'absolute path of the private key'),
      cert_file: text('', 'absolute path of the certificate'),
    }),
    transcoding: section({
      enabled: flag(true, 'whether live streams are transcoded', EDITABLE),
      remote_runners: remoteRunners('live transcoding'),
      threads: integer(2, 'threads of one live ffmpeg; 0: ffmpeg decides', EDITABLE),
      profile: text('default', 'transcoding profile of live streams', EDITABLE),
      resolutions: resolutions(),
      always_transcode_original_resolution: flag(true, "whether the input's own resolution is made too", EDITABLE),
      fps: section({ max: integer(60, 'frames per second at most', { ...EDITABLE, min: 1 }) }),
    }),
  }),
  video_studio: section({
    enabled: flag(false, 'whether users may cut videos and add intros, outros, watermarks', EDITABLE),
    remote_runners: remoteRunners('studio work'),
  }),
  video_file: section({
    update: section({ enabled: flag(false, 'whether users may replace the file of a video', EDITABLE) }),
  }),
  video_transcription: section({
    enabled: flag(false, 'whether captions are made from speech', EDITABLE),
    engine: text('whisper-ctranslate2', 'program that transcribes'),
    engine_path: optionalText(null, 'path of that program; null: it is installed or found'),
    model: text('small', 'model of that program'),
    model_path: optionalText(null, 'path of the model; null: it is downloaded'),
    remote_runners: remoteRunners('transcription'),
  }),
  storyboards: section({
    enabled: flag(true, 'whether storyboards are made', EDITABLE),
    remote_runners: section({ enabled: flag(false, 'whether remote runners make them in place of this server') }),
  }),
  thumbnails: section({
    generation_from_video: section({
      frames_to_analyze: integer(50, 'frames among which the thumbnail is chosen', { min: 2 }),
    }),
    sizes: records(
      imageSize,
      'a list of { width, height }',
      [
        { width: 280, height: 157 },
        { width: 850, height: 480 },
      ],
      'sizes of thumbnail and preview, in pixels',
    ),
  }),
  import: section({
    videos: section({
      concurrency: integer(1, 'imports at once by one process; 0: none here', EDITABLE),
      timeout: duration('2 hours', 'longest import'),
      http: section({
        enabled: flag(false, 'whether videos may be imported by URL', EDITABLE),
        youtube_dl_release: section({
          name: text('yt-dlp', 'name of its file'),
          python_path: text('/usr/bin/python3', 'Python that runs it'),
        }),
        force_ipv4: flag(false, 'whether imports use IPv4 alone'),
        proxies: texts([], 'proxies, of which each import uses one'),
      }),
      torrent: section({ enabled: flag(false, 'whether videos may be imported by torrent', EDITABLE) }),
    }),
    video_channel_synchronization: section({
      enabled: flag(false, 'whether channels may follow channels of other sites', EDITABLE),
      max_per_user: integer(10, 'synchronisations of one user', EDITABLE),
      check_interval: duration('1 hour', 'how often the other sites are checked'),
      videos_limit_per_synchronization: integer(10, 'newest videos looked at each time'),
      full_sync_videos_limit: integer(1000, 'videos of a full synchronisation'),
    }),
    users: section({ enabled: flag(true, 'whether users may import an archive', EDITABLE) }),
  }),
  export: section({
    users: section({
      enabled: flag(true, 'whether users may export an archive', EDITABLE),
      max_user_video_quota: size('10GB', 'users with more bytes of video cannot export them', EDITABLE),
      export_expiration: duration('2 days', 'lifetime of an archive', EDITABLE),
    }),
  }),
  remote_runners: section({
    stalled_jobs: section({
      live: duration('30 seconds', 'silence after which a live job goes to another runner'),
      vod: duration('2 minutes', 'silence after which any other job goes to another runner'),
    }),
  }),
}
