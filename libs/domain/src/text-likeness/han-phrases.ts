/** Chinese words that the vetoes must know, by their first character. Simplified, and the commonest traditional forms. */
import { HAN_NAMES } from './place-names.js';

export type HanMeaning =
  /** Taken whole, so that no character in it is taken for something else. */
  | { kind: 'plain' }
  | { kind: 'stop' }
  | { kind: 'negator' }
  | { kind: 'name' }
  | { kind: 'direction' }
  | { kind: 'date'; date: string }
  | { kind: 'sign'; axis: string; value: string };

const STOP =
  '请问 请你 请您 请帮 请 麻烦 帮我 帮忙 谢谢 感谢 您好 你好 我想要 我想 我要 我需要 一下 一个 能否 可否 是否 能不能 可不可以 是不是 有没有 要不要 会不会 可以 能够 的 了 吗 呢 吧 啊 呀 你 您 我 我们 你们 着 就 也 还 再 又 这 那 个 它';
/** Characters of a negation that negate nothing here. */
const PLAIN =
  '不过 不同 不仅 不但 不断 不错 不好意思 不管 不论 不如 对不起 对不住 差不多 不久 不客气 没关系 没问题 没事 非常 非洲 除非 无论 无聊 无线 无锡 未来 别人 别的 别墅 特别 分别 区别 级别 类别 性别 个别 告别 识别 差别 辨别 鉴别 别名 十分 百分 千万 万一 三明治 四川 四周 四处 百货 五金 八卦 九龙 第一时间 统一 唯一 一样 一直 一定 一起 一些 一般 一共 一旦 进一步 同一';
const NEGATORS = '不要 不能 不可以 不可 不用 不会 不是 不得 没有 并非 从未 不 没 沒 无 無 非 未 别 別 勿 莫';
const DIRECTIONS = '从 從 到 至 往 向 比 由 对';
const DATES: Readonly<Record<string, string>> = {
  今天: 'today',
  今日: 'today',
  今晚: 'evening',
  昨天: 'yesterday',
  昨晚: 'yesterday',
  明天: 'tomorrow',
  明日: 'tomorrow',
  明晚: 'tomorrow',
  后天: 'in2days',
  前天: '2daysago',
  早上: 'morning',
  上午: 'morning',
  中午: 'noon',
  下午: 'afternoon',
  晚上: 'evening',
  周末: 'weekend',
  今年: 'thisyear',
  去年: 'lastyear',
  明年: 'nextyear',
  每天: 'per:d',
  每日: 'per:d',
  每周: 'per:w',
  每月: 'per:mo',
  每年: 'per:y',
};
const WEEK_NAMES = ['星期', '礼拜', '周'];
const WEEKDAYS: Readonly<Record<string, string>> = {
  一: 'mon',
  二: 'tue',
  三: 'wed',
  四: 'thu',
  五: 'fri',
  六: 'sat',
  日: 'sun',
  天: 'sun',
};
const SIGNS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  switch: { on: '打开 开启 启用 激活 開啟 打開', off: '关闭 关掉 关上 禁用 停用 關閉' },
  exist: {
    there: '增加 添加 新增 创建 新建 加入 安装 插入',
    gone: '删除 移除 去掉 卸载 清除 清空 取消 刪除',
    seen: '查看 列出 显示 查询 读取 查一下 查',
  },
  run: { go: '开始 启动 继续 恢复', stop: '停止 结束 终止 暂停 中止' },
  amount: { up: '提高 升高 增大 调高 上调 升级 扩大', down: '降低 减少 减小 调低 下调 降级 缩小' },
  sight: { show: '显示 展示', hide: '隐藏' },
  load: { up: '上传', down: '下载' },
  port: { in: '导入', out: '导出' },
  mail: { out: '发送', in: '接收 收到' },
  trade: { buy: '购买 买', sell: '出售 卖' },
  consent: { yes: '允许 同意 接受 批准', no: '禁止 拒绝 驳回' },
  session: { in: '登录 登陆', out: '退出 登出 注销' },
  time: { before: '之前 以前', after: '之后 以后' },
  sequence: { first: '第一', last: '最后', next: '下一 下个', previous: '上一 上个' },
  age: { new: '最新', old: '最旧 最早' },
  side: { left: '左', right: '右' },
  extreme: { most: '最大 最多 最高', least: '最小 最少 最低' },
  result: { good: '成功 通过', bad: '失败' },
  gender: { he: '男 他', she: '女 她' },
  stage: { production: '生产', staging: '预发', development: '开发', test: '测试环境' },
  money: { in: '存款 转入', out: '取款 转出' },
};

function buildPhrases(): Map<string, [phrase: string, meaning: HanMeaning][]> {
  const byFirst = new Map<string, [string, HanMeaning][]>();
  const put = (words: string | string[], meaning: HanMeaning): void => {
    for (const word of typeof words === 'string' ? words.split(' ') : words) {
      const list = byFirst.get(word.charAt(0)) ?? [];
      if (!list.some(([known]) => known === word)) list.push([word, meaning]);
      byFirst.set(word.charAt(0), list);
    }
  };
  put(PLAIN, { kind: 'plain' });
  for (const [axis, values] of Object.entries(SIGNS))
    for (const [value, words] of Object.entries(values)) put(words, { kind: 'sign', axis, value });
  put(HAN_NAMES, { kind: 'name' });
  for (const [word, date] of Object.entries(DATES)) put(word, { kind: 'date', date });
  for (const week of WEEK_NAMES)
    for (const [day, date] of Object.entries(WEEKDAYS)) put(week + day, { kind: 'date', date });
  put(STOP, { kind: 'stop' });
  put(NEGATORS, { kind: 'negator' });
  put(DIRECTIONS, { kind: 'direction' });
  for (const list of byFirst.values()) list.sort(([one], [other]) => other.length - one.length);
  return byFirst;
}

const PHRASES = buildPhrases();

/** The longest known phrase that starts at this place. */
export function phraseAt(text: string, at: number): [phrase: string, meaning: HanMeaning] | undefined {
  const list = PHRASES.get(text.charAt(at));
  if (list === undefined) return undefined;
  for (const entry of list) if (text.startsWith(entry[0], at)) return entry;
  return undefined;
}
