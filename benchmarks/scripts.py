"""Text of every script: short sentences in fourteen languages, told apart by topic, beside scikit-learn.

    python benchmarks/scripts.py [--rows 400]

Sentences are drawn, with fixed seeds, from small vocabularies written by hand: a third of the words are of the
sentence's topic, the rest are common to all topics or strays from another one. Scripts without spaces are written
without spaces, as people write them.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from measure import RESULTS, machine, table


class Language(NamedTuple):
    """Words of three topics, words of none, and what stands between them."""

    topics: tuple[str, str, str]
    common: str
    gap: str = " "


LANGUAGES = {
    "Chinese": Language(
        (
            "下雨 晴天 气温 台风 多云 雪花 湿度 雷电",
            "米饭 面条 饺子 牛肉 青菜 豆腐 味道 餐厅",
            "足球 比赛 球员 进球 冠军 教练 训练 赛跑",
        ),
        "今天 我们 他们 觉得 可以 真的 大家 因为 所以 明天 这里 已经",
        "",
    ),
    "Japanese": Language(
        (
            "雨が降る 晴れ 気温 台風 くもり 雪 湿度 かみなり",
            "ごはん ラーメン 寿司 牛肉 野菜 豆腐 おいしい レストラン",
            "サッカー 試合 選手 ゴール 優勝 監督 練習 マラソン",
        ),
        "今日は 私たち 彼らが と思う できる 本当に みんな だから 明日も ここで もう まだ",
        "",
    ),
    "Thai": Language(
        (
            "ฝนตก แดดออก อุณหภูมิ พายุ เมฆมาก หิมะ ความชื้น ฟ้าผ่า",
            "ข้าวผัด ก๋วยเตี๋ยว เกี๊ยว เนื้อวัว ผักสด เต้าหู้ รสชาติ ร้านอาหาร",
            "ฟุตบอล การแข่งขัน ผู้เล่น ประตู แชมป์ โค้ช ฝึกซ้อม วิ่ง",
        ),
        "วันนี้ พวกเรา พวกเขา คิดว่า สามารถ จริงๆ ทุกคน เพราะ ดังนั้น พรุ่งนี้ ที่นี่ แล้ว",
        "",
    ),
    "Lao": Language(
        (
            "ຝົນຕົກ ແດດອອກ ອຸນຫະພູມ ພາຍຸ ເມກຫຼາຍ ຫິມະ ຄວາມຊຸ່ມ ຟ້າຜ່າ",
            "ເຂົ້າຜັດ ເຝີ ລາບ ຊີ້ນງົວ ຜັກສົດ ເຕົ້າຮູ້ ລົດຊາດ ຮ້ານອາຫານ",
            "ບານເຕະ ການແຂ່ງຂັນ ນັກກິລາ ປະຕູ ແຊ້ມ ຄູຝຶກ ຝຶກຊ້ອມ ແລ່ນ",
        ),
        "ມື້ນີ້ ພວກເຮົາ ພວກເຂົາ ຄິດວ່າ ສາມາດ ແທ້ໆ ທຸກຄົນ ເພາະ ດັ່ງນັ້ນ ມື້ອື່ນ ທີ່ນີ້ ແລ້ວ",
        "",
    ),
    "Khmer": Language(
        (
            "ភ្លៀង ថ្ងៃរះ សីតុណ្ហភាព ព្យុះ ពពក ព្រិល សំណើម ផ្គរ",
            "បាយ គុយទាវ សម្ល សាច់គោ បន្លែ តៅហ៊ូ រសជាតិ ភោជនីយដ្ឋាន",
            "បាល់ទាត់ ការប្រកួត កីឡាករ ទី ជើងឯក គ្រូបង្វឹក ហ្វឹកហាត់ រត់",
        ),
        "ថ្ងៃនេះ យើង ពួកគេ គិតថា អាច ពិតជា គ្រប់គ្នា ព្រោះ ដូច្នេះ ស្អែក ទីនេះ ហើយ",
        "",
    ),
    "Burmese": Language(
        (
            "မိုးရွာ နေသာ အပူချိန် မုန်တိုင်း တိမ် နှင်း စိုထိုင်း မိုးကြိုး",
            "ထမင်း ခေါက်ဆွဲ မုန့်ဟင်းခါး အမဲသား ဟင်းရွက် တို့ဟူး အရသာ စားသောက်ဆိုင်",
            "ဘောလုံး ပြိုင်ပွဲ ကစားသမား ဂိုး ချန်ပီယံ နည်းပြ လေ့ကျင့် ပြေး",
        ),
        "ဒီနေ့ ငါတို့ သူတို့ ထင်တယ် နိုင်တယ် တကယ် အားလုံး ကြောင့် ဒါကြောင့် မနက်ဖြန် ဒီမှာ ပြီ",
        "",
    ),
    "Korean": Language(
        (
            "비가 맑음 기온 태풍 구름 눈이 습도 번개",
            "밥을 국수 만두 소고기 채소 두부 맛있다 식당",
            "축구 경기 선수 골을 우승 감독 훈련 달리기",
        ),
        "오늘 우리는 그들은 생각한다 있다 정말 모두 때문에 그래서 내일 여기 이미",
    ),
    "Arabic": Language(
        (
            "مطر مشمس حرارة عاصفة غيوم ثلج رطوبة برق",
            "أرز معكرونة حساء لحم خضار جبن طعم مطعم",
            "كرة مباراة لاعب هدف بطولة مدرب تدريب سباق",
        ),
        "اليوم نحن هم نظن يمكن حقا الجميع لأن لذلك غدا هنا الآن",
    ),
    "Hindi": Language(
        (
            "बारिश धूप तापमान तूफान बादल बर्फ नमी बिजली",
            "चावल रोटी दाल मांस सब्जी पनीर स्वाद भोजनालय",
            "फुटबॉल मैच खिलाड़ी गोल विजेता कोच अभ्यास दौड़",
        ),
        "आज हम वे सोचते सकते सच सब क्योंकि इसलिए कल यहाँ अभी",
    ),
    "Russian": Language(
        (
            "дождь солнце температура буря облака снег влажность молния",
            "рис лапша суп говядина овощи сыр вкус ресторан",
            "футбол матч игрок гол чемпион тренер тренировка бег",
        ),
        "сегодня мы они думаем можно правда все потому поэтому завтра здесь уже",
    ),
    "Greek": Language(
        (
            "βροχή ήλιος θερμοκρασία καταιγίδα σύννεφα χιόνι υγρασία αστραπή",
            "ρύζι μακαρόνια σούπα κρέας λαχανικά τυρί γεύση εστιατόριο",
            "ποδόσφαιρο αγώνας παίκτης γκολ πρωταθλητής προπονητής προπόνηση τρέξιμο",
        ),
        "σήμερα εμείς αυτοί νομίζω μπορεί αλήθεια όλοι γιατί οπότε αύριο εδώ ήδη",
    ),
    "Hebrew": Language(
        (
            "גשם שמש טמפרטורה סערה עננים שלג לחות ברק",
            "אורז פסטה מרק בשר ירקות גבינה טעם מסעדה",
            "כדורגל משחק שחקן שער אלוף מאמן אימון ריצה",
        ),
        "היום אנחנו הם חושבים אפשר באמת כולם כי לכן מחר כאן כבר",
    ),
    "English": Language(
        (
            "rain sunshine temperature storm clouds snow humidity lightning",
            "rice noodles soup beef vegetables cheese taste restaurant",
            "football match player goal champion coach training running",
        ),
        "today we they think can really everyone because so tomorrow here already",
    ),
    "emoji": Language(
        (
            "🌧️ ☀️ 🌡️ 🌪️ ☁️ ❄️ 💧 ⚡",
            "🍚 🍜 🥟 🥩 🥦 🧀 😋 🍽️",
            "⚽ 🏟️ 🏃🏽 🥅 🏆 👩🏾‍🏫 🏋️ 🤾‍♀️",
        ),
        "😀 🙏 👍🏻 😅 ❤️ 🎉 🤔 👀 🔥 😂 👋🏿 ✨",
        "",
    ),
}
TOPICS = ("weather", "food", "sport")
OF_THE_TOPIC, STRAY = 0.33, 0.12


def sentences(language: Language, rows: int, seed: int) -> tuple[list[str], list[str]]:
    """Sentences of four to nine words and their topics."""
    rng = np.random.default_rng(seed)
    topics, common = [topic.split() for topic in language.topics], language.common.split()

    def word(topic: int) -> str:
        drawn = rng.random()
        if drawn < OF_THE_TOPIC:
            return str(rng.choice(topics[topic]))
        return str(rng.choice(topics[rng.integers(3)] if drawn < OF_THE_TOPIC + STRAY else common))

    labels = rng.integers(0, 3, rows).tolist()
    texts = [language.gap.join(word(label) for _ in range(rng.integers(4, 10))) for label in labels]
    return texts, [TOPICS[label] for label in labels]


def contestants() -> dict[str, Callable[[], Any]]:
    """Those who are compared, as they come and by the recipe that is nearest to the peer's."""
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.naive_bayes import MultinomialNB
    from sklearn.pipeline import make_pipeline

    from candide import NaiveBayes, TextOptions

    return {
        "NaiveBayes()": NaiveBayes,
        "its words, counted": lambda: NaiveBayes(text=TextOptions(), smoothing=1, calibrate=False),
        "split at spaces": lambda: NaiveBayes(text=TextOptions(words="spaced"), smoothing=1, calibrate=False),
        "sklearn, words": lambda: make_pipeline(CountVectorizer(), MultinomialNB()),
        "sklearn, 1-2 characters": lambda: make_pipeline(
            CountVectorizer(analyzer="char", ngram_range=(1, 2)), MultinomialNB()
        ),
    }


def accuracy(make: Callable[[], Any], language: Language, rows: int) -> float:
    """The share of new sentences put under their topic; where there are no words at all, that of the largest topic."""
    texts, labels = sentences(language, rows, 0)
    asked, right = sentences(language, rows, 1)
    try:
        answers = make().fit(texts, labels).predict(asked)
    except ValueError as reason:
        if "empty vocabulary" not in str(reason):
            raise
        return max(right.count(topic) for topic in TOPICS) / rows
    return float(np.mean(np.asarray(answers) == np.asarray(right)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=400)
    rows = parser.parse_args().rows
    warnings.simplefilter("ignore")
    makers = contestants()
    lines = [
        [name, *(f"{100 * accuracy(make, language, rows):.1f}" for make in makers.values())]
        for name, language in LANGUAGES.items()
    ]
    said = f"""# Text of every script

{rows} sentences of four to nine words to learn from, {rows} others to judge, three topics, equal seeds: accuracy in %.
Written by `benchmarks/scripts.py`; {machine("candide", "scikit-learn")}.

{table(["language", *makers], lines)}
"""
    print(said)
    (RESULTS / "scripts.md").write_text(said)


if __name__ == "__main__":
    main()
