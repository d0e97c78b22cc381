// Current viewers of a video, for statements that read videos.

/**
 * SQL for the current viewers of a video. `viewing` names its row, if there is one. The count of a remote video includes the local viewers
 * that its server knows of.
 */
export const currentViewers = (video: string, viewing: string): string =>
  `case when ${viewing}.video_id is null then 0
     when ${video}.remote then greatest(${viewing}.viewers, ${viewing}.told_viewers)
     else ${viewing}.viewers + ${viewing}.told_viewers end`
