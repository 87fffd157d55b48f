/**
 * Names that are exchanged in otherwise equal questions, and that people write without a capital: places, languages,
 * currencies, programming languages. A name that is not here is still seen by its capital letter. Names that are
 * common words too (turkey, reading, nice, go) are left out.
 */
const COUNTRIES =
  'afghanistan algeria argentina australia austria bangladesh belgium bolivia brazil britain bulgaria cambodia canada chile china colombia croatia cuba czechia denmark ecuador egypt england estonia ethiopia finland france germany ghana greece greenland hungary iceland india indonesia iran iraq ireland israel italy jamaica japan kenya korea kuwait latvia lebanon lithuania luxembourg malaysia malta mexico mongolia morocco nepal netherlands nigeria norway pakistan peru philippines poland portugal qatar romania russia scotland serbia singapore slovakia slovenia somalia spain sudan sweden switzerland syria taiwan thailand tunisia uganda ukraine usa uk vietnam wales yemen zealand africa europe asia america';
const CITIES =
  'amsterdam ankara athens atlanta auckland austin baghdad bangkok barcelona beijing beirut belgrade berlin bogota boston brisbane brussels bucharest budapest cairo calgary chicago cologne copenhagen dallas delhi denver detroit dubai dublin edinburgh florence frankfurt geneva glasgow guangzhou hamburg hanoi havana helsinki hongkong houston istanbul jakarta jerusalem johannesburg karachi kyiv kyoto lagos lahore lima lisbon liverpool london luxemburg lyon madrid manchester manila marseille melbourne memphis miami milan milwaukee minneapolis montreal moscow mumbai munich nairobi naples nashville orlando osaka oslo ottawa paris philadelphia phoenix pittsburgh porto portland prague rome rotterdam sacramento santiago seattle seoul shanghai shenzhen sofia stockholm stuttgart sydney taipei tampa tehran tokyo toronto tunis turin vancouver venice vienna vilnius warsaw washington york zagreb zurich alaska arizona california colorado florida hawaii idaho illinois kansas kentucky maryland michigan minnesota montana nebraska nevada ohio oklahoma oregon tennessee texas utah vermont virginia wisconsin wyoming vegas';
const LANGUAGES =
  'english french german spanish italian portuguese dutch swedish danish norwegian finnish greek russian ukrainian czech hungarian romanian turkish arabic hebrew persian hindi bengali urdu tamil thai vietnamese chinese mandarin cantonese japanese korean indonesian swahili latin american british european canadian mexican australian indian';
const MONEY =
  'dollar euro pound yen yuan rupee franc peso ruble krone krona usd eur gbp jpy cny chf inr bitcoin ethereum';
const PROGRAMMING =
  'python java javascript typescript golang kotlin php perl scala haskell erlang elixir mysql postgres postgresql sqlite mongodb redis kafka docker kubernetes terraform ansible linux windows macos ubuntu debian android ios aws azure gcp github gitlab bitbucket npm yarn pnpm react angular vue svelte django flask';

export const NAMES: ReadonlySet<string> = new Set(
  [COUNTRIES, CITIES, LANGUAGES, MONEY, PROGRAMMING].flatMap((list) => list.split(' ')),
);

/** Chinese: languages and countries by their own names, cities and provinces. */
export const HAN_NAMES =
  '中国 美国 英国 法国 德国 日本 韩国 俄罗斯 俄国 印度 泰国 越南 意大利 西班牙 葡萄牙 荷兰 瑞士 瑞典 挪威 丹麦 芬兰 波兰 希腊 土耳其 埃及 南非 巴西 阿根廷 墨西哥 加拿大 澳大利亚 澳洲 新西兰 新加坡 马来西亚 菲律宾 印尼 伊朗 伊拉克 以色列 乌克兰 欧洲 亚洲 非洲 美洲 英文 英语 中文 汉语 日文 日语 法文 法语 德文 德语 韩文 韩语 俄文 俄语 西班牙语 意大利语 葡萄牙语 阿拉伯语 粤语 北京 上海 广州 深圳 天津 重庆 成都 杭州 南京 武汉 西安 苏州 长沙 郑州 青岛 大连 厦门 福州 昆明 哈尔滨 沈阳 济南 合肥 宁波 无锡 佛山 东莞 香港 澳门 台湾 台北 高雄 广东 广西 福建 浙江 江苏 山东 山西 河南 河北 湖南 湖北 四川 云南 贵州 海南 江西 安徽 陕西 甘肃 青海 新疆 西藏 内蒙古 宁夏 辽宁 吉林 黑龙江 东京 大阪 首尔 曼谷 巴黎 伦敦 柏林 罗马 马德里 纽约 洛杉矶 旧金山 芝加哥 华盛顿 莫斯科 悉尼 墨尔本 多伦多 温哥华 迪拜 人民币 美元 欧元 日元 英镑 港币 港元 韩元 比特币'.split(
    ' ',
  );
