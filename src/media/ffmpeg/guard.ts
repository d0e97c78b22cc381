// Restricts what ffmpeg and ffprobe may open: local files, demuxers of media files and common decoders. Playlists, concatenation scripts,
// image sequences and exotic decoders are where FFmpeg's known vulnerabilities are (reliability cases, "Files").

/** Names of FFmpeg's demuxers. A list entry matches any of the comma-separated names of a demuxer. */
const DEMUXERS = [
  'mov',
  'mp4',
  'matroska',
  'webm',
  'avi',
  'flv',
  'asf',
  'mpeg',
  'mpegts',
  'mpegvideo',
  'm4v',
  'ogg',
  'mxf',
  'nut',
  'mp3',
  'aac',
  'flac',
  'wav',
  'w64',
  'aiff',
  'caf',
  'ac3',
  'eac3',
  'amr',
  'dts',
  'au',
  'tta',
  'wv',
  'dv',
  'wtv',
]

/** Codecs by FFmpeg's codec name, as ffprobe reports them. */
const VIDEO_CODECS = [
  'h264',
  'hevc',
  'vp8',
  'vp9',
  'av1',
  'mpeg1video',
  'mpeg2video',
  'mpeg4',
  'msmpeg4v2',
  'msmpeg4v3',
  'h263',
  'wmv1',
  'wmv2',
  'wmv3',
  'vc1',
  'flv1',
  'vp6',
  'vp6f',
  'theora',
  'mjpeg',
  'png',
  'prores',
  'dnxhd',
  'ffv1',
  'dvvideo',
  'rawvideo',
  'huffyuv',
  'utvideo',
  'qtrle',
  'cfhd',
]

const AUDIO_CODECS = [
  'aac',
  'aac_latm',
  'mp3',
  'mp2',
  'mp1',
  'opus',
  'vorbis',
  'flac',
  'alac',
  'ac3',
  'eac3',
  'dts',
  'truehd',
  'wmav1',
  'wmav2',
  'wmapro',
  'wmalossless',
  'amr_nb',
  'amr_wb',
  'speex',
  'wavpack',
  'tta',
  'nellymoser',
  'adpcm_ms',
  'adpcm_ima_wav',
  'adpcm_ima_qt',
  'adpcm_swf',
  'pcm_alaw',
  'pcm_mulaw',
  'pcm_u8',
  'pcm_s8',
  'pcm_s16le',
  'pcm_s16be',
  'pcm_s24le',
  'pcm_s24be',
  'pcm_s32le',
  'pcm_s32be',
  'pcm_f32le',
  'pcm_f32be',
  'pcm_f64le',
  'pcm_bluray',
  'pcm_dvd',
]

/** Decoders whose names differ from their codec's. */
const DECODER_ALIASES = [
  'libdav1d',
  'libaom-av1',
  'libvpx',
  'libvpx-vp9',
  'msmpeg4',
  'flv',
  'libopus',
  'libvorbis',
  'libspeex',
  'mp3float',
  'mp2float',
  'mp1float',
  'dca',
  'amrnb',
  'amrwb',
  'libopencore_amrnb',
  'libopencore_amrwb',
]

/** Decoders of subtitles, which are never used but which ffprobe always opens. */
const SUBTITLE_DECODERS = [
  'mov_text',
  'subrip',
  'srt',
  'ass',
  'ssa',
  'webvtt',
  'text',
  'dvbsub',
  'dvdsub',
  'pgssub',
  'cc_dec',
  'xsub',
  'libzvbi_teletextdec',
  'libaribb24',
  'libaribcaption',
  'microdvd',
  'sami',
  'stl',
  'subviewer',
]

const ALLOWED_CODECS: ReadonlySet<string> = new Set([...VIDEO_CODECS, ...AUDIO_CODECS])

export const isAllowedCodec = (codec: string): boolean => ALLOWED_CODECS.has(codec)

/** Options before an input, for both ffmpeg and ffprobe; supported since 2.8. `demuxers`: more of them, for files of this server. */
export function inputGuard(protocol: 'file' | 'pipe' | 'rtmp,rtmps,tls,tcp' = 'file', demuxers: readonly string[] = []): string[] {
  return [
    '-protocol_whitelist',
    protocol,
    '-format_whitelist',
    [...DEMUXERS, ...demuxers].join(','),
    '-codec_whitelist',
    [...ALLOWED_CODECS, ...DECODER_ALIASES, ...SUBTITLE_DECODERS].join(','),
  ]
}

/** The options of an input with the guard, unless they contain one or their own limits, or no file is read. */
export function guarded(options: readonly string[]): readonly string[] {
  const isGenerated = options.some((option, index) => option === 'lavfi' && options[index - 1] === '-f')
  return isGenerated || options.includes('-codec_whitelist') ? options : [...inputGuard(), ...options]
}
