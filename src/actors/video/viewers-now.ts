// How many watch a video now, for statements that read videos.

/**
 * SQL for how many watch a video now: `viewing` names its row, if there is one. The count of another server's video
 * holds our viewers too, as far as it heard of them.
 */
export const viewersNow = (video: string, viewing: string): string =>
  `case when ${viewing}.video_id is null then 0
     when ${video}.remote then greatest(${viewing}.viewers, ${viewing}.told_viewers)
     else ${viewing}.viewers + ${viewing}.told_viewers end`
